/* SPDX-License-Identifier: GPL-2.0-only */
#define SEC(name) __attribute__((section(name), used))
SEC("lsm/file_open")
long lsm_negated(long *ctx)
{
	return -ctx[0];
}
