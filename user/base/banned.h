/* SPDX-License-Identifier: MIT */
/* Included by the build in front of every file of user/: calls that lose bounds or errors. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atoll gets
#pragma GCC poison localtime gmtime ctime asctime system popen tmpnam mktemp

#endif
