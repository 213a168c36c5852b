/* SPDX-License-Identifier: GPL-2.0-only */
#define SEC(name) __attribute__((section(name), used))
struct {
	int (*type)[2];
} a_map_with_a_long_name SEC(".maps");

SEC("raw_tp/sys_exit")
int a_program_with_a_long_name(void *ctx)
{
	return 0;
}

SEC("raw_tp/sys_enter")
int a_program_with_another_name(void *ctx)
{
	return 0;
}

SEC("raw_tp/sys_enter")
int a_program_with(void *ctx)
{
	return 0;
}
