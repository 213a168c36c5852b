/* SPDX-License-Identifier: MIT */
/* Clocks, see timeutil.h. */
#include "timeutil.h"

#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts); /* both clocks exist since Linux 2.6.39 */
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t time_boot_ns(void)
{
	return now_ns(CLOCK_BOOTTIME);
}

uint64_t time_wall_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}
