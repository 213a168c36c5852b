/* SPDX-License-Identifier: MIT */
#include "base/cur.h"
#include "base/good.h"

#include <sodium.h>
