# What belongs to an installed Myelin beside its programs: the unit, the users,
# the configuration.  "make install" never touches a configuration that is
# there.

systemdsystemunitdir = $(prefix)/lib/systemd/system
sysusersdir = $(prefix)/lib/sysusers.d
tmpfilesdir = $(prefix)/lib/tmpfiles.d
confdir = $(sysconfdir)/myelin
presetsdir = $(datadir)/myelin/presets
apparmordir = $(sysconfdir)/apparmor.d
abstractionsdir = $(apparmordir)/abstractions

# What a program in a neuron may, for AppArmor.
dist_apparmor_DATA = contrib/apparmor/myelin-neuron
dist_abstractions_DATA = contrib/apparmor/abstractions/myelin-neuron

# What the presets that are built in say, to be read and copied.
dist_presets_DATA = contrib/presets/readonly.conf \
	contrib/presets/standard.conf contrib/presets/strict.conf

# The shell finds it by the program's name.
completionsdir = $(datadir)/bash-completion/completions
dist_completions_DATA = contrib/completions/myelinctl

nodist_systemdsystemunit_DATA = contrib/systemd/myelin.service
CLEANFILES += contrib/systemd/myelin.service
EXTRA_DIST += contrib/local.mk contrib/myelin.conf contrib/examples \
	contrib/systemd/myelin.service.in \
	contrib/systemd/myelin.sysusers contrib/systemd/myelin.tmpfiles \
	contrib/vm

contrib/systemd/myelin.service: contrib/systemd/myelin.service.in Makefile
	$(AM_V_at)$(MKDIR_P) contrib/systemd
	$(AM_V_GEN)sed 's,[@]sbindir@,$(sbindir),g' \
		"$(srcdir)/contrib/systemd/myelin.service.in" > $@.tmp && \
		mv $@.tmp $@

install-data-local:
	$(MKDIR_P) "$(DESTDIR)$(sysusersdir)" "$(DESTDIR)$(tmpfilesdir)" \
		"$(DESTDIR)$(confdir)/conf.d"
	$(INSTALL_DATA) "$(srcdir)/contrib/systemd/myelin.sysusers" \
		"$(DESTDIR)$(sysusersdir)/myelin.conf"
	$(INSTALL_DATA) "$(srcdir)/contrib/systemd/myelin.tmpfiles" \
		"$(DESTDIR)$(tmpfilesdir)/myelin.conf"
	test -e "$(DESTDIR)$(confdir)/myelin.conf" || \
		$(INSTALL_DATA) "$(srcdir)/contrib/myelin.conf" \
			"$(DESTDIR)$(confdir)/myelin.conf"

uninstall-local:
	rm -f "$(DESTDIR)$(sysusersdir)/myelin.conf" \
		"$(DESTDIR)$(tmpfilesdir)/myelin.conf"
	! cmp -s "$(srcdir)/contrib/myelin.conf" \
		"$(DESTDIR)$(confdir)/myelin.conf" || \
		rm -f "$(DESTDIR)$(confdir)/myelin.conf"
