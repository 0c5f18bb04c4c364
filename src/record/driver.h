// The HDF5 file driver of a recorder's output.
#ifndef MAYFLY_SRC_RECORD_DRIVER_H
#define MAYFLY_SRC_RECORD_DRIVER_H

#include "record/output.h"

// The table of functions that HDF5 calls; the driver's information is a pointer to the output.
const H5FD_class_t *mf_driver_class(void);

#endif
