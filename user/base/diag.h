/* SPDX-License-Identifier: MIT */
/*
 * Context of an error: written once, where the cause is known, printed by the
 * edge (cli/, daemon/). The sentence names what failed, why, and the command
 * or change that fixes it.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "macros.h"

#define MAX_DIAG 1024 /* bytes of one message; longer ones are cut */

struct diag {
	char msg[MAX_DIAG];
};

/* Returns err, so that a caller can say `return diag_set(d, -EIO, ...)`. d may be NULL. */
int diag_set(struct diag *d, int err, const char *fmt, ...) _printf_(3, 4);

#endif
