/* SPDX-License-Identifier: MIT */
/* Text to number, see num.h. */
#include "num.h"

#include <errno.h>

int num_u64(const char *s, size_t len, uint64_t max, uint64_t *ret_n)
{
	uint64_t n = 0;

	if (!len || (s[0] == '0' && len > 1))
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, s[i] - '0', &n))
			return -ERANGE;
	}
	if (n > max)
		return -ERANGE;
	*ret_n = n;
	return 0;
}

int num_i64(const char *s, size_t len, int64_t *ret_n)
{
	int minus = len && s[0] == '-';
	uint64_t n;
	int r;

	r = num_u64(s + minus, len - minus, (uint64_t)INT64_MAX + minus, &n);
	if (r < 0)
		return r;
	if (minus && !n)
		return -EINVAL;
	*ret_n = (int64_t)(minus ? -n : n);
	return 0;
}
