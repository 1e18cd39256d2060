/*
 * Builtins whose doing is followed.
 */
#include "names.h"
#include "resolver.h"

static const struct builtin_row {
	const char	*name;
	builtin_fn	*fn;
	int		 bash;		/* not in dash */
	int		 assigns;
} builtins[] = {
	/* strings that become code */
	{ "eval", builtin_eval, 0, 0 },
	{ ".", builtin_source, 0, 0 },
	{ "source", builtin_source, 1, 0 },
	{ "trap", builtin_trap, 0, 0 },
	{ "alias", builtin_alias, 0, 0 },
	{ "unalias", builtin_unalias, 0, 0 },
	{ "mapfile", builtin_mapfile, 1, 0 },
	{ "readarray", builtin_mapfile, 1, 0 },
	{ "let", builtin_let, 1, 0 },
	{ "complete", builtin_complete, 1, 0 },
	{ "compgen", builtin_complete, 1, 0 },
	{ "bind", builtin_complete, 1, 0 },
	{ "jobs", builtin_jobs, 0, 0 },
	/* subscripts that are evaluated */
	{ "test", builtin_test, 0, 0 },
	{ "[", builtin_test, 0, 0 },
	{ "printf", builtin_printf, 0, 0 },
	{ "read", builtin_read, 0, 0 },
	{ "unset", builtin_unset, 0, 0 },
	{ "getopts", builtin_getopts, 0, 0 },
	/* variables */
	{ "declare", builtin_declare, 1, 1 },
	{ "typeset", builtin_declare, 1, 1 },
	{ "export", builtin_declare, 0, 1 },
	{ "readonly", builtin_declare, 0, 1 },
	{ "local", builtin_local, 0, 1 },
	{ "set", builtin_set, 0, 0 },
	{ "shift", builtin_shift, 0, 0 },
	{ "shopt", builtin_shopt, 1, 0 },
	/* the directory */
	{ "cd", builtin_cd, 0, 0 },
	{ "pushd", builtin_pushd, 1, 0 },
	{ "popd", builtin_popd, 1, 0 },
	/* where it ends */
	{ "exit", builtin_exit, 0, 0 },
	{ "return", builtin_exit, 0, 0 },
	{ "break", builtin_exit, 0, 0 },
	{ "continue", builtin_exit, 0, 0 },
	{ "exec", builtin_exec, 0, 0 },
	{ "enable", builtin_enable, 1, 0 }
};

static struct names by_name = NAMES(builtins);

builtin_fn *
builtin_find(const struct resolver *r, const char *name)
{
	const struct builtin_row *row = names_find(&by_name, name);

	if (row == NULL || (row->bash && r->dialect == DIALECT_DASH))
		return (NULL);
	return (row->fn);
}

int
builtin_assigns(const char *name)
{
	const struct builtin_row *row = names_find(&by_name, name);

	return (row != NULL && row->assigns);
}
