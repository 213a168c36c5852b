/* SPDX-License-Identifier: GPL-2.0-only */
#define SEC(name) __attribute__((section(name), used))
SEC("raw_tp/sys_enter")
int tp_enter(void *ctx)
{
	return 0;
}
