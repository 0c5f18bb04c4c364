// The HDF5 file driver of a recorder's output.
#pragma once

#include "record/output.h"

// The table of functions that HDF5 calls; the driver's information is a pointer to the output.
const H5FD_class_t *mf_driver_class(void);
