# Every tests/<area>/test_<name>.c is one program and one CTest entry of that name; every
# tests/fuzz/fuzz_<name>.c, and each row of tests/fuzz/readers.c, is a libFuzzer target (or, without
# MAYFLY_FUZZ, replays its corpus).
if(MAYFLY_TESTS)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
  # What all of them stand on: contexts, worlds, assertions and torture.
  file(GLOB rig_sources CONFIGURE_DEPENDS tests/rig/*.c)
  add_library(test_rig STATIC ${rig_sources})
  mayfly_target_flags(test_rig)
  target_compile_options(test_rig PRIVATE -UNDEBUG ${MAYFLY_UNTRACED})
  target_include_directories(test_rig PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(test_rig PUBLIC mayfly PkgConfig::CMOCKA m)
  file(GLOB test_sources CONFIGURE_DEPENDS tests/*/test_*.c)
  if(NOT LUA_FOUND)
    list(FILTER test_sources EXCLUDE REGEX "/script/")
  endif()
  set(limit 300)
  if(MAYFLY_SANITIZE)
    set(limit 900) # sanitizers take three to ten times as long
  endif()
  foreach(source IN LISTS test_sources)
    file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR}/tests ${source})
    get_filename_component(area ${relative} DIRECTORY)
    get_filename_component(stem ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${stem})
    set(test_target test_${area}_${name})
    add_executable(${test_target} ${source})
    # tests/<area>/<name>_kernel.c is compiled like every kernel and linked into its test.
    string(REGEX REPLACE "test_([^/]*)\\.c$" "\\1_kernel.c" test_kernel ${source})
    if(EXISTS ${test_kernel})
      mayfly_add_kernel(${test_target} ${test_kernel})
    endif()
    mayfly_target_flags(${test_target})
    # Every test has cmocka's parameter `state`, and few want it.
    target_compile_options(${test_target} PRIVATE -UNDEBUG -Wno-missing-prototypes
      -Wno-unused-parameter ${MAYFLY_UNTRACED})
    target_include_directories(${test_target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/made
      ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${test_target} PRIVATE
      MAYFLY_SOURCE_DIR="${PROJECT_SOURCE_DIR}" MAYFLY_BINARY_DIR="${PROJECT_BINARY_DIR}")
    target_link_libraries(${test_target} PRIVATE test_rig)
    if(MAYFLY_TOOLS)
      target_link_libraries(${test_target} PRIVATE mayfly_tools PkgConfig::SQLITE PkgConfig::HDF5
        PkgConfig::JANSSON PkgConfig::ZLIB)
    endif()
    target_link_libraries(${test_target} PRIVATE mayfly)
    add_test(NAME ${area}/${name} COMMAND ${test_target})
    set_tests_properties(${area}/${name} PROPERTIES TIMEOUT ${limit})
  endforeach()
  # What ThreadSanitizer looks at: every way in which several threads share a world, a search or a
  # file. None of them names an instruction set that a build with one lane alone lacks.
  add_custom_target(thread_tests)
  foreach(name IN ITEMS base/context base/threads camera/cameras control/plugin solve/assemblies
      solve/joint_slots agent/messages environment/own_tasks
      solve/collisions solve/rounds motion/switch record/recorder scene/joints
      scene/mixed scene/vehicles search/search search/verify sense/signals terrain/generate
      world/schedule world/shared)
    string(REPLACE "/" "_" test_target test_${name})
    add_dependencies(thread_tests ${test_target})
    set_tests_properties(${name} PROPERTIES LABELS threads)
  endforeach()
  # One plugin, broken in one way each time: what test_control_plugin loads.
  set(plugin_cases good magic old_abi new_abi entry_size view_size layout missing_symbol
    undefined_symbol no_name bad_name no_version kind no_widths float_only double_only no_step
    no_fields many_fields no_settings unknown_field other_unit other_type no_type other_shape
    zero_width no_access own_name field_twice writes_state writes_fault nothing_written bad_setting
    refuses links nan infinite rounding subnormal extended before behind read_only others pointers motion)
  foreach(case IN LISTS plugin_cases)
    mayfly_add_plugin(plugin_case_${case} ${PROJECT_SOURCE_DIR}/tests/control/plugins/corpus.c)
    target_compile_definitions(plugin_case_${case} PRIVATE CASE_${case})
    add_dependencies(test_control_plugin plugin_case_${case})
  endforeach()
  if(TARGET plugin_hover)
    add_dependencies(test_control_plugin plugin_hover plugin_sway)
    add_dependencies(test_solve_joint_slots plugin_magnet)
    if(TARGET test_scene_plugins)
      add_dependencies(test_scene_plugins plugin_hover plugin_sway plugin_case_links)
      add_dependencies(test_scene_joints plugin_magnet)
      add_dependencies(test_scene_cameras plugin_look)
      add_dependencies(test_scene_policies plugin_wave)
      add_dependencies(test_world_declarations plugin_hover plugin_sway)
      if(TARGET test_script_same_bits)
        add_dependencies(test_script_same_bits plugin_pd)
      endif()
    endif()
  endif()
  file(GLOB test_scripts CONFIGURE_DEPENDS tests/*/test_*.sh)
  foreach(source IN LISTS test_scripts)
    file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR}/tests ${source})
    get_filename_component(area ${relative} DIRECTORY)
    get_filename_component(stem ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${stem})
    add_test(NAME ${area}/${name}
      COMMAND sh ${source} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    # A script that cannot run here says why and exits 77.
    set_tests_properties(${area}/${name} PROPERTIES TIMEOUT 1200 SKIP_RETURN_CODE 77)
  endforeach()
  # The longest begin, the very longest first, so that no core waits for one of them at the end. ctest
  # itself knows only from the second run on how long they take.
  set(cost 200)
  foreach(name IN ITEMS app/engines app/sweep app/cli motion/mjcf_keys view/report_machine motion/energy house/commands
      app/walker scene/ground_energy house/calls solve/collisions app/machines
      scene/restore solve/solver_large house/tutorials motion/isolation control/get_up
      motion/articulated_friction motion/articulated_contact_pairs motion/articulated_convergence
      motion/cloth app/kill app/record_kill app/stranger house/bits house/lint view/report
      scene/assemblies scene/floats scene/joints solve/joint_slots solve/rounds
      agent/messages app/module_robots app/consent app/realtime model/machine scene/policies
      scene/particles world/declarations)
    if(TEST ${name})
      set_tests_properties(${name} PROPERTIES COST ${cost})
      math(EXPR cost "${cost} - 1")
    endif()
  endforeach()
  # The worlds of the check cases are tiny: threads that wait for work would take a third of the time.
  if(TEST app/cli)
    set_tests_properties(app/cli PROPERTIES PROCESSOR_AFFINITY ON)
  endif()
endif()

# A fuzz target of `source`, and the test that replays its corpus.
function(mayfly_add_fuzz corpus source)
  add_executable(fuzz_${corpus} ${source})
  mayfly_target_flags(fuzz_${corpus})
  target_compile_options(fuzz_${corpus} PRIVATE -Wno-missing-prototypes -Wno-unused-parameter)
  target_compile_definitions(fuzz_${corpus} PRIVATE MAYFLY_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    FUZZ_READER="${corpus}")
  target_include_directories(fuzz_${corpus} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(fuzz_${corpus} PRIVATE mayfly_tools mayfly)
  if(MAYFLY_FUZZ)
    target_link_options(fuzz_${corpus} PRIVATE -fsanitize=fuzzer)
    set(replay -runs=0)
  else()
    target_sources(fuzz_${corpus} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
  endif()
  add_test(NAME fuzz/${corpus}
    COMMAND fuzz_${corpus} ${replay} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${corpus})
  set_tests_properties(fuzz/${corpus} PROPERTIES TIMEOUT 300)
endfunction()

if(MAYFLY_TOOLS)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
  foreach(source IN LISTS fuzz_sources)
    string(REGEX REPLACE ".*/fuzz_(.*)[.]c$" "\\1" corpus ${source})
    mayfly_add_fuzz(${corpus} ${source})
  endforeach()
  foreach(reader IN ITEMS cloth dae gait hdf5 mjcf obj pgm png recording scene stl truss urdf
      vehicle)
    mayfly_add_fuzz(${reader} tests/fuzz/readers.c)
  endforeach()
endif()
