# A kernel is one source file, compiled once per instruction set and precision. Inside it,
# math/lane.h turns MF_KERNEL_<ISA> and MF_KERNEL_F64 into a lane type and a name suffix. SINGLE is
# one lane for processors with fused multiply-add.
function(mayfly_add_kernel target source)
  get_filename_component(stem ${source} NAME_WE)
  if(MAYFLY_FUZZ)
    set(MAYFLY_SANITIZE "") # readers of files run no kernel, and clang takes minutes to watch each
  endif()
  set(isas SCALAR BASELINE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND isas AVX2 AVX512 SINGLE)
  endif()
  foreach(isa IN LISTS isas)
    foreach(precision IN ITEMS F32 F64)
      set(object ${stem}_${isa}_${precision})
      add_library(${object} OBJECT ${source})
      mayfly_target_flags(${object})
      if(MAYFLY_FUZZ)
        target_compile_options(${object} PRIVATE -O0)
      elseif(MAYFLY_SANITIZE)
        target_compile_options(${object} PRIVATE -O1) # a third less to compile, the same bits
      endif()
      target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/src
        ${PROJECT_SOURCE_DIR}/include)
      target_compile_definitions(${object} PRIVATE MF_KERNEL_${isa} MF_KERNEL_${precision})
      # Lanes are the vectors; packing other values into vectors costs 5 %.
      target_compile_options(${object} PRIVATE -fno-tree-vectorize
        $<IF:$<C_COMPILER_ID:GNU>,-fno-tree-slp-vectorize,-fno-slp-vectorize>)
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
