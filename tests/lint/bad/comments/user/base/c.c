/* SPDX-License-Identifier: MIT */
/* fine: // inside a comment
 * // also inside
 */
const char *url = "http://fine";
int a; // not fine
/* before */ int b; /* and */ // behind
