/* SPDX-License-Identifier: MIT */
/* @WORD@ later */
