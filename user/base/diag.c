/* SPDX-License-Identifier: MIT */
/* Error context, see diag.h. */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>

int diag_set(struct diag *d, int err, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return err;
	va_start(ap, fmt);
	(void)vsnprintf(d->msg, sizeof(d->msg), fmt, ap); /* cut by design */
	va_end(ap);
	return err;
}
