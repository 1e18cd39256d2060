/*
 * Printing trees as JSON.
 */
#ifndef TESTS_SHELL_LOOK_H
#define TESTS_SHELL_LOOK_H

#include "shell/ast.h"
#include "shell/judging_internal.h"
#include "shell/parser.h"

void	look_string(const char *, size_t);
void	look_list(struct judging *, const struct list *);

#endif
