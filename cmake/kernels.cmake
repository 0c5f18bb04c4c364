# A kernel is one source file, compiled once per instruction set and precision. Inside it,
# math/lane.h turns MF_KERNEL_<ISA> and MF_KERNEL_F64 into a lane type and a name suffix. SINGLE is
# one lane for processors with fused multiply-add.
option(MAYFLY_FEW_COPIES "For checks on this machine: no kernels for AVX2 and AVX-512" OFF)
set(kernel_isas SCALAR BASELINE)
set(few_copies_options "")
if(MAYFLY_FEW_COPIES)
  add_compile_definitions(MF_FEW_COPIES)
  if(MAYFLY_SANITIZE AND EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo flags REGEX "^flags.* fma " LIMIT_COUNT 1)
    if(flags)
      set(few_copies_options -mfma) # several times as fast as without the instruction
    endif()
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND kernel_isas AVX2 AVX512 SINGLE)
endif()

# Lanes are the vectors; packing other values into vectors costs 5 %.
set(kernel_options -fno-tree-vectorize
  $<IF:$<C_COMPILER_ID:GNU>,-fno-tree-slp-vectorize,-fno-slp-vectorize>)
if(MAYFLY_SANITIZE)
  list(APPEND kernel_options -O1 -g1) # half as long to compile, the same bits
  if(MAYFLY_SANITIZE MATCHES "fuzzer-no-link")
    list(APPEND kernel_options -fno-sanitize=fuzzer-no-link) # readers of files run no kernel
  endif()
  if(MAYFLY_SANITIZE MATCHES "undefined")
    list(APPEND kernel_options -fno-sanitize=null,alignment,object-size,pointer-overflow)
  endif()
endif()

# Sources named *_scalar.c answer for one robot at a time: a lane of theirs is one double.
function(mayfly_scalar_sources)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_DEFINITIONS "MF_KERNEL_SCALAR;MF_KERNEL_F64" COMPILE_OPTIONS "${kernel_options}")
endfunction()

# The same with the multiply-add instruction, for processors that have it: the same bits, which the
# other copy takes a hundred instructions for.
function(mayfly_single_copy target source)
  if(NOT "SINGLE" IN_LIST kernel_isas)
    return()
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
  foreach(isa IN LISTS kernel_isas)
    foreach(precision IN ITEMS F32 F64)
      set(object ${stem}_${isa}_${precision})
      add_library(${object} OBJECT ${source})
      mayfly_target_flags(${object})
      target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/src
        ${PROJECT_SOURCE_DIR}/include)
      target_compile_definitions(${object} PRIVATE MF_KERNEL_${isa} MF_KERNEL_${precision})
      target_compile_options(${object} PRIVATE ${kernel_options} ${few_copies_options})
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
