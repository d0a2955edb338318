# What Doxygen reads in place of a public header. The lines keep their numbers.

# The text of a heading may follow it on the same line, after some spaces.
s|^( */// @par [A-Z][a-z, ]*[a-z])  +|\1 \\ilinebr |

# The opening of a group is not a part of the comment below it.
s|^( *)/// (@[{}])$|\1/** \2 */|

# A specialisation in another namespace is not ours to describe.
/^template <>$/,/is_error_code_enum/s|.*||
