/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
struct wire {
	int a, b;
};
#pragma GCC diagnostic pop
