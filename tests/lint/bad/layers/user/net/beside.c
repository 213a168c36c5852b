/* SPDX-License-Identifier: MIT */
#include "policy/load.h"
#include <sodium.h>
#include "../base/buf.h"
