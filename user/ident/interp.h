/* SPDX-License-Identifier: MIT */
/*
 * What an interpreter was told to run, from its arguments: one row per
 * interpreter says which options take a value and which bring the program
 * themselves. A wrong guess costs a name, never a record.
 */
#ifndef IDENT_INTERP_H
#define IDENT_INTERP_H

#include "event/event.h"

enum interp_found {
	INTERP_NOT,    /* no interpreter */
	INTERP_INLINE, /* program in the arguments, on standard input, or none */
	INTERP_SCRIPT, /* *ret_what is the script as given, relative to cwd */
	INTERP_MODULE, /* *ret_what is the name of a module (python -m) */
};

/* name: base name of the executable. *ret_what borrows from argv, without NUL. */
enum interp_found interp_look(struct str name, struct str argv, struct str *ret_what);

#endif
