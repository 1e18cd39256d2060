# neuron-tool: the bodies of the file tools.  Static, since it is executed
# from a memfd in a neuron whose trees need not have any library.

noinst_LIBRARIES += neurond/tool/libtool-bodies.a
neurond_tool_libtool_bodies_a_SOURCES = \
	neurond/tool/args.c neurond/tool/args.h \
	neurond/tool/block.c neurond/tool/block.h \
	neurond/tool/filter.c neurond/tool/filter.h \
	neurond/tool/ls.c \
	neurond/tool/memory.c \
	neurond/tool/names.c neurond/tool/names.h \
	neurond/tool/out.c neurond/tool/out.h \
	neurond/tool/path.c neurond/tool/path.h neurond/tool/path_int.h \
	neurond/tool/read.c \
	neurond/tool/replace.c neurond/tool/replace.h \
	neurond/tool/resolve.c \
	neurond/tool/result.c neurond/tool/result.h \
	neurond/tool/tar.c neurond/tool/tar.h \
	neurond/tool/text.c neurond/tool/text.h \
	neurond/tool/tool.h \
	neurond/tool/write.c
neurond_tool_libtool_bodies_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) \
	$(LIBMD_CFLAGS)

TOOL_LIBS = neurond/tool/libtool-bodies.a neurond/libnative.a $(CORE_LIBS) \
	$(JANSSON_LIBS) $(LIBMD_LIBS)

myelinlib_PROGRAMS += neurond/neuron-tool
neurond_neuron_tool_SOURCES = neurond/tool/main.c
neurond_neuron_tool_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
neurond_neuron_tool_LDADD = $(TOOL_LIBS)
neurond_neuron_tool_LDFLAGS = $(AM_LDFLAGS) $(STATIC_LDFLAGS)

include neurond/tool/edit.mk
