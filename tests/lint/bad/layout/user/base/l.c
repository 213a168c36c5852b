/* SPDX-License-Identifier: MIT */
int with_blanks(void)
{
        return 0;
}
int trailing; 
int a_very_long_name_of_a_function_that(int takes_one, int takes_two, int takes_three, int takes_four);
