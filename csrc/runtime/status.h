/* status.h: the statuses of bcg_status.def as an enum, for the C that is compiled with the package. */
#ifndef BCG_RUNTIME_STATUS_H
#define BCG_RUNTIME_STATUS_H

typedef enum {
#define BCG_STATUS(name, value, sentence) BCG_##name = value,
#define BCG_SHAPE_STATUS(name, value, sentence) BCG_##name = value,
#include "bcg_status.def"
#undef BCG_SHAPE_STATUS
#undef BCG_STATUS
} bcg_status;

#endif
