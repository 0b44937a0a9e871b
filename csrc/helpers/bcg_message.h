/* bcg_message.h: numbers as text, without <stdio.h>.
 *
 * Contract. Nothing is allocated. Each definition is between blank lines and uses only the standard headers: emit
 * copies the ones a kernel's message function needs.
 */
#ifndef BCG_MESSAGE_H
#define BCG_MESSAGE_H

#include <stdint.h>

/* Spells a number in decimal; what it returns points into `digits`. */
static inline const char *bcg_digits(int64_t number, char digits[21])
{
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *first = &digits[20];
    *first = '\0';
    do {
        first--;
        *first = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) {
        first--;
        *first = '-';
    }
    return first;
}

#endif
