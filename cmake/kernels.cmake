# A kernel is one source file, compiled once per instruction set and precision. Inside it,
# math/lane.h turns MF_KERNEL_<ISA> and MF_KERNEL_F64 into a lane type and a name suffix. SCALAR is
# one lane for every processor, with the fused multiply-add called as a function where the
# architecture does not have it; SINGLE one lane for processors with the instruction. Files named
# *_double_kernel.c have no copies in float, those named *_float_kernel.c none in double.
#
# MAYFLY_COPIES says which copies a build has:
#   all       every instruction set of the architecture: for wheels, packages and the tests
#   native    the widest set of this processor, and one lane: half of the time to compile
#   single    one lane alone, a fifth of the time to compile: for ThreadSanitizer
set(MAYFLY_COPIES all CACHE STRING "Copies of the kernels: all, native or single")
set_property(CACHE MAYFLY_COPIES PROPERTY STRINGS all native single)

set(processor_flags "")
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo processor_flags REGEX "^flags" LIMIT_COUNT 1)
endif()
set(kernel_isas SCALAR)
if(NOT MAYFLY_COPIES MATCHES "^(all|native|single)$")
  message(FATAL_ERROR "MAYFLY_COPIES is '${MAYFLY_COPIES}': expected all, native or single")
elseif(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
elseif(MAYFLY_COPIES STREQUAL "all")
  set(kernel_isas SCALAR SINGLE AVX2 AVX512)
elseif(processor_flags MATCHES " fma ")
  set(kernel_isas SINGLE)
  if(MAYFLY_COPIES STREQUAL "native" AND processor_flags MATCHES " avx512f.* avx512bw .*avx512vl ")
    list(APPEND kernel_isas AVX512)
  elseif(MAYFLY_COPIES STREQUAL "native" AND processor_flags MATCHES " avx2 ")
    list(APPEND kernel_isas AVX2)
  endif()
endif()

# What math/kernel_table.h reads.
foreach(isa IN ITEMS SCALAR AVX2 AVX512 SINGLE)
  set(MF_HAS_${isa} 0)
  if(isa IN_LIST kernel_isas)
    set(MF_HAS_${isa} 1)
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/copies.h.in ${PROJECT_BINARY_DIR}/made/math/copies.h)

# Lanes are the vectors; packing other values into vectors costs 5 %, and GCC 12.2 fuses multiplications
# with additions in these even where it must not (GCC bug 107647; tests/house/test_fused.sh).
set(kernel_options -fno-tree-vectorize
  $<IF:$<C_COMPILER_ID:GNU>,-fno-tree-slp-vectorize,-fno-slp-vectorize>)
if(MAYFLY_SANITIZE)
  list(APPEND kernel_options -O1 -g1) # half as long to compile, the same bits
  # Calls check the addresses of long functions: a tenth to a third of the time to compile them, and
  # tests of kernels take a fifth to a half longer.
  if(MAYFLY_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "Clang")
    list(APPEND kernel_options -mllvm -asan-instrumentation-with-call-threshold=500)
  endif()
  list(APPEND kernel_options ${MAYFLY_UNTRACED}) # readers of files run no kernel
  if(MAYFLY_SANITIZE MATCHES "undefined")
    list(APPEND kernel_options -fno-sanitize=null,alignment,object-size,pointer-overflow)
  endif()
endif()

# Sources named *_scalar.c answer for one robot at a time: a lane of theirs is one double.
function(mayfly_scalar_sources)
  set(options "${kernel_options}")
  set(isa SCALAR)
  if(NOT "SCALAR" IN_LIST kernel_isas)
    set(isa SINGLE)
    list(APPEND options -mfma)
  endif()
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_DEFINITIONS "MF_KERNEL_${isa};MF_KERNEL_F64" COMPILE_OPTIONS "${options}")
endfunction()

# The same with the multiply-add instruction, for processors that have it: the same bits, which the
# other copy takes a hundred instructions for.
function(mayfly_single_copy target source)
  if(NOT "SINGLE" IN_LIST kernel_isas OR NOT "SCALAR" IN_LIST kernel_isas)
    return() # one copy is all there is
  endif()
  get_filename_component(stem ${source} NAME_WE)
  set(object ${stem}_SINGLE_F64)
  configure_file(${source} ${PROJECT_BINARY_DIR}/${stem}_single.c COPYONLY)
  add_library(${object} OBJECT ${PROJECT_BINARY_DIR}/${stem}_single.c)
  mayfly_target_flags(${object})
  target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${object} PRIVATE MF_KERNEL_SINGLE MF_KERNEL_F64)
  target_compile_options(${object} PRIVATE ${kernel_options} -mfma)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
endfunction()

function(mayfly_add_kernel target source)
  get_filename_component(stem ${source} NAME_WE)
  set(precisions F32 F64)
  if(stem MATCHES "_double_kernel$")
    set(precisions F64)
  elseif(stem MATCHES "_float_kernel$")
    set(precisions F32)
  endif()
  foreach(isa IN LISTS kernel_isas)
    foreach(precision IN LISTS precisions)
      set(object ${stem}_${isa}_${precision})
      add_library(${object} OBJECT ${source})
      mayfly_target_flags(${object})
      target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/src
        ${PROJECT_SOURCE_DIR}/include)
      target_compile_definitions(${object} PRIVATE MF_KERNEL_${isa} MF_KERNEL_${precision})
      target_compile_options(${object} PRIVATE ${kernel_options})
      if(isa STREQUAL "AVX2")
        target_compile_options(${object} PRIVATE -mavx2 -mfma)
      elseif(isa STREQUAL "AVX512")
        target_compile_options(${object} PRIVATE -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma
          -mprefer-vector-width=512)
      elseif(isa STREQUAL "SINGLE")
        target_compile_options(${object} PRIVATE -mfma)
      endif()
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
    endforeach()
  endforeach()
endfunction()
