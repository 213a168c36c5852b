/* SPDX-License-Identifier: MIT */
/*
 * Clocks. Everything recorded carries CLOCK_BOOTTIME in nanoseconds, the clock
 * that bpf_ktime_get_boot_ns() reads (Linux 5.8); seals pair it with
 * CLOCK_REALTIME.
 */
#ifndef BASE_TIMEUTIL_H
#define BASE_TIMEUTIL_H

#include <stdint.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

uint64_t time_boot_ns(void);
uint64_t time_wall_ns(void);

#endif
