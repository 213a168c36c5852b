/* SPDX-License-Identifier: MIT */
#include "base/cur.h"
