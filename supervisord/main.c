/* myelind: options. */
#include <sys/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imsg.h"
#include "log.h"
#include "preflight.h"
#include "proc.h"
#include "supervisor.h"
#include "without.h"

static _Noreturn void
usage(void)
{
	fprintf(stderr, "usage: myelind [-dNnv] [-f file] [-L directory] "
	    "[-p directory] [-T imsg]\n");
	exit(2);
}

/* An absolute path of a directory that is there, and whose it is. */
static char *
directory(const char *what, const char *path, uid_t *owner)
{
	struct stat st;
	char *real;

	if ((real = realpath(path, NULL)) == NULL || stat(real, &st) == -1)
		fatal("%s %s", what, path);
	if (!S_ISDIR(st.st_mode))
		fatalx("%s %s: is not a directory", what, path);
	*owner = st.st_uid;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		log_warnx("%s %s belongs to uid %u, who can replace what is "
		    "in it", what, path, st.st_uid);
	return (real);
}

static void
options(int argc, char **argv, struct sv_opts *o, struct supervisor *sv)
{
	int ch;

	while ((ch = getopt(argc, argv, "df:L:Nnp:T:v")) != -1) {
		switch (ch) {
		case 'd':
			o->debug = true;
			break;
		case 'f':
			o->file = optarg;
			break;
		case 'L':
			o->tree = directory("-L", optarg, &sv->tree_owner);
			break;
		case 'N':
			o->parse = true;
			break;
		case 'n':
			o->print = o->check;
			o->check = true;
			break;
		case 'p':
			o->private_dir = directory("-p", optarg,
			    &sv->dir_owner);
			break;
		case 'T':
			if (strcmp(optarg, "imsg") != 0)
				usage();
			o->trace = true;
			break;
		case 'v':
			o->verbose = true;
			break;
		default:
			usage();
		}
	}
	if (argc != optind)
		usage();
}

/*
 * Who starts this, and where.  Before anything else is done, as whatever is
 * done may need what is missing here, and would not name it.
 */
static int
may_start(void)
{
	char why[WHY_MAX];

	if (geteuid() != 0) {
		log_warnx("root starts this; -n checks a configuration as "
		    "anybody");
		return (0);
	}
	if (preflight_layers(why) == -1) {
		log_warnx("%s", why);
		return (0);
	}
	return (1);
}

int
main(int argc, char **argv)
{
	static struct supervisor sv = {
		.dir_owner = (uid_t)-1, .tree_owner = (uid_t)-1, .journal = -1,
		.uids = { .fd = -1 }
	};
	static struct sv_opts o;
	char path[PATH_BYTES_MAX];
	int status;

	log_init("myelind", -1, 0);
	proc_title("myelind");
	options(argc, argv, &o, &sv);
	sv.opts = &o;
	if (load_path(&o, path, sizeof(path)) == -1)
		fatalx("the configuration's path is too long");
	if (o.parse)
		return (load_check(&sv, path));
	if (WITHOUT_BUILT && o.private_dir == NULL && !o.check)
		fatalx("this build can do without its layers, for tests of "
		    "them: it runs private instances alone (-p)");
	if (!o.check && !may_start())
		return (1);
	sv.maker = sv.spawner = sv.neuron_tool = sv.seal = -1;
	feed_init(&sv.feed);
	if ((sv.conf = load(&sv, path, &sv.feed)) == NULL)
		return (1);
	log_set_verbose(o.verbose || sv.conf->verbose);
	channel_trace(o.trace);
	children_init(&sv);
	if (feed_programs(&sv) == -1 || feed_seal(&sv) == -1)
		return (1);
	status = o.check ? supervisor_check(&sv) : supervisor_run(&sv);
	feed_close(&sv.feed);
	conf_free(sv.conf);
	return (status);
}
