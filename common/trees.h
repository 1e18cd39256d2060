/*
 * The directories that a profile's neurons are built from (struct cf_trees of
 * slice.h), in a slice.
 */
#ifndef MYELIN_TREES_H
#define MYELIN_TREES_H

struct cf_trees;
struct dec;
struct enc;

void	trees_free(struct cf_trees *);
/* 1 if neurons that are built from either are alike. */
int	trees_same(const struct cf_trees *, const struct cf_trees *);
void	trees_put(struct enc *, const struct cf_trees *);
/* What is wrong, or not clean, sets the decoder's error. */
void	trees_get(struct dec *, struct cf_trees *);

#endif
