/* SPDX-License-Identifier: MIT */
#include <bpf/libbpf.h>
