/* The configuration's file, at the start and at each reload. */
#include <stdio.h>
#include <string.h>

#include "supervisor.h"

int
load_path(const struct sv_opts *o, char *path, size_t size)
{
	int n;

	if (o->file != NULL)
		n = snprintf(path, size, "%s", o->file);
	else if (o->private_dir != NULL)
		n = snprintf(path, size, "%s/myelin.conf", o->private_dir);
	else
		n = snprintf(path, size, "%s/myelin.conf", MYELIN_SYSCONFDIR);
	return (n < 0 || (size_t)n >= size ? -1 : 0);
}

static void
report(void *arg, const char *text)
{
	if (strstr(text, ": warning: ") != NULL)
		log_warnx("%s", text);
	else
		complain(arg, "%s", text);
}

/* Presets name tools, which only the declarations can confirm. */
static int
check_tools(const struct conf *conf, const struct feed *f,
    const struct conf_opts *copts)
{
	struct strings names = { NULL, 0 };
	size_t i;
	int result;

	for (i = 0; i < f->ntools; i++) {
		if (strings_add(&names, f->tools[i].name) == -1)
			fatalx("out of memory");
	}
	result = conf_check_tools(conf, &names, copts);
	strings_free(&names);
	return (result);
}

static struct conf *
load_file(struct supervisor *sv, const char *path, struct conf_opts *copts)
{
	*copts = (struct conf_opts){
		.private_dir = sv->opts->private_dir,
		.names = &conf_host_names,
		.report = report,
		.arg = sv
	};
	return (conf_load(path, copts));
}

int
load_check(struct supervisor *sv, const char *path)
{
	struct conf_opts copts;
	struct conf *conf;

	if ((conf = load_file(sv, path, &copts)) == NULL)
		return (1);
	conf_free(conf);
	printf("configuration reads\n");
	return (0);
}

struct conf *
load(struct supervisor *sv, const char *path, struct feed *f)
{
	struct conf_opts copts;
	struct conf *conf;

	if ((conf = load_file(sv, path, &copts)) == NULL)
		return (NULL);
	if (feed_tools(sv, conf, f) == -1 ||
	    feed_hooks(sv, conf, f) == -1 || feed_egress(sv, f) == -1 ||
	    check_tools(conf, f, &copts) == -1) {
		conf_free(conf);
		return (NULL);
	}
	conf_check_trees(conf, &copts);
	return (conf);
}
