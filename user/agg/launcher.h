/* SPDX-License-Identifier: MIT */
/* Tools that are there to start other tools: they do not name a run. */
#ifndef AGG_LAUNCHER_H
#define AGG_LAUNCHER_H

#include "event/event.h"

/* path: executable or script that names the tool; argv: each item ends in NUL. */
bool launcher_is(struct str name, struct str path, struct str argv);

#endif
