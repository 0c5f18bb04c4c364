# Warnings, strict floating point and sanitizers, the same for every target.
set(MAYFLY_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wno-sign-conversion)

set(MAYFLY_ERRORS "")
if(MAYFLY_WERROR)
  set(MAYFLY_ERRORS -Werror)
endif()

function(mayfly_target_flags target)
  target_compile_options(${target} PRIVATE ${MAYFLY_WARNINGS} ${MAYFLY_ERRORS} -ffp-contract=off
    -fno-math-errno -fno-trapping-math -fstack-protector-strong)
  if(NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  endif()
  if(MAYFLY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${MAYFLY_SANITIZE}
      -fno-omit-frame-pointer -g)
    if(MAYFLY_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE -fsanitize=float-cast-overflow
        -fno-sanitize-recover=all)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${MAYFLY_SANITIZE})
  endif()
endfunction()

# Fuzzers explore the rooms that read files and messages. Their instrumentation makes a step of physics two to three
# times as slow, so the other host code has none.
set(MAYFLY_UNTRACED "")
if(MAYFLY_SANITIZE MATCHES "fuzzer-no-link")
  set(MAYFLY_UNTRACED -fno-sanitize=fuzzer-no-link)
endif()
function(mayfly_trace_readers)
  set(sources ${ARGN})
  list(FILTER sources EXCLUDE REGEX "/src/(base|model|import|export|terrain|control|agent|io|scene|search|serve)/")
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS ${MAYFLY_UNTRACED})
endfunction()

# The libraries' host code runs on small stacks, too: what is large goes to scratch or is allocated.
# (Kernels are measured by tests/motion/test_stack.c.) Unoptimized and sanitized code has larger
# frames.
function(mayfly_bound_frames target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MAYFLY_SANITIZE)
    target_compile_options(${target} PRIVATE -Wframe-larger-than=16384)
  endif()
endfunction()

# Sources that no step runs: they read and write files, make plans, or are words of the command. They
# compile in two thirds of the time.
function(mayfly_outside_steps)
  set(sources ${ARGN})
  list(FILTER sources INCLUDE REGEX
    "/src/(body|export|image|import|io|model|record|scene|view)/|/apps/mayfly/|/motion/.*/(actuators|contacts|couplings|law|mesh|model|parameters|path_scalar|plan|program|start|tree|trim)\\.c$")
  list(FILTER sources EXCLUDE REGEX "/scene/modules/|/scene/(behavior|flock|rules|watch)|/apps/mayfly/bench")
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()
