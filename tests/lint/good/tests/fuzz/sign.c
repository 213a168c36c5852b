/* SPDX-License-Identifier: MIT */
int LLVMFuzzerTestOneInput(const char *data, unsigned long size);
