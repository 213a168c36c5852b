/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
struct holes {
	char a;
	long b;
};
