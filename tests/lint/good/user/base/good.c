/* SPDX-License-Identifier: MIT */
/*
 * Promises nothing // and says so.
 */
#include "good.h"

#include <string.h>

static const char *const names[] = {
	"http://one", /* a string may hold what a comment may not */
};

const char *good_name(void)
{
	return names[0];
}
