/* SPDX-License-Identifier: MIT */
#ifndef BASE_GOOD_H
#define BASE_GOOD_H

const char *good_name(void);

#endif
