/* SPDX-License-Identifier: MIT */
/*
 * Text to number, the only place that does it. The whole text must be digits;
 * no blanks, no plus sign, no leading zeros. -EINVAL otherwise, -ERANGE beyond
 * the limits; *ret_n is then untouched.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

int num_u64(const char *s, size_t len, uint64_t max, uint64_t *ret_n);
int num_i64(const char *s, size_t len, int64_t *ret_n); /* also "-5" */

#endif
