/*
 * What the tests of the configuration's text share: reading one, and what is
 * said of it.
 */
#ifndef MYELIN_CONF_SAID_H
#define MYELIN_CONF_SAID_H

#include <stdio.h>
#include <string.h>

#include "conf.h"
#include "conf_fake.h"
#include "unit.h"

#define SAID_MAX	65536

static char said[SAID_MAX];

static inline void
hear(void *arg, const char *text)
{
	size_t used = strlen(said);

	(void)arg;
	(void)snprintf(said + used, sizeof(said) - used, "%s\n", text);
}

static inline struct conf *
load_at(const char *text, const char *private_dir)
{
	struct conf_opts opts = {
		.private_dir = private_dir,
		.names = &fake_names,
		.no_include = 1,
		.report = hear
	};

	said[0] = '\0';
	return (conf_load_text("t", text, strlen(text), &opts));
}

#define API	"listen api \"/r/a\"\n"

/* Reads a text that must be right. */
static inline struct conf *
good(const char *text)
{
	struct conf *conf = load_at(text, NULL);

	ck_assert_msg(conf != NULL, "%s", said);
	return (conf);
}

static inline void
bad(const char *text, const char *expected)
{
	struct conf *conf = load_at(text, NULL);

	ck_assert_msg(conf == NULL, "accepted: %s", text);
	ck_assert_str_eq(said, expected);
}

#endif
