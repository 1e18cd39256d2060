/*
 * The table of layers.
 */
#include <stddef.h>

#include "layers.h"

const struct layer_row layer_table[LAYER_COUNT] = {
#define ROW(sym, name, need, protects, provider, remedy)		\
	[LAYER_##sym] = { name, need, protects, provider, remedy },
	LAYER_TABLE(ROW)
#undef ROW
};

uint64_t
layers_needed(unsigned kind)
{
	uint64_t bits = 0;
	unsigned i;

	for (i = 0; i < LAYER_COUNT; i++)
		if (layer_table[i].need == LAYER_MANDATORY ||
		    ((kind & LAYERS_OF_WORKSPACE) &&
		    layer_table[i].need == LAYER_WORKSPACE) ||
		    ((kind & LAYERS_OF_HOME) &&
		    layer_table[i].need == LAYER_HOME) ||
		    ((kind & LAYERS_OF_IMAGE) &&
		    layer_table[i].need == LAYER_IMAGE) ||
		    ((kind & LAYERS_OF_STRICT) &&
		    layer_table[i].need == LAYER_STRICT))
			bits |= UINT64_C(1) << i;
	return (bits);
}

const char *
layer_name(unsigned i)
{
	return (i < LAYER_COUNT ? layer_table[i].name : NULL);
}

const char *
layer_need_name(enum layer_need need)
{
	static const char *const names[] = {
		[LAYER_MANDATORY] = "mandatory",
		[LAYER_WORKSPACE] = "with a workspace",
		[LAYER_HOME] = "with a kept home",
		[LAYER_IMAGE] = "with a named root",
		[LAYER_STRICT] = "strict",
		[LAYER_IF_PRESENT] = "used when present",
		[LAYER_UNUSED] = "not used"
	};

	return (names[need]);
}
