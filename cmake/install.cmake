# Headers, libraries, the command with its models and scenes, the CMake package and the pkg-config
# files. The package has the components `core` (always there) and `tools`. Nothing installed holds an
# absolute path of the prefix but the command's default folder of data, so a prefix can be moved.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/mayfly)
set(data_folder ${CMAKE_INSTALL_DATADIR}/mayfly)

install(DIRECTORY include/mayfly DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS mayfly EXPORT mayfly_core INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT mayfly_core NAMESPACE mayfly:: FILE mayfly-core.cmake
  DESTINATION ${package_folder})
if(MAYFLY_TOOLS)
  install(FILES ${licenses_file} DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(TARGETS mayfly_tools mayfly_client EXPORT mayfly_tools
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT mayfly_tools NAMESPACE mayfly:: FILE mayfly-tools.cmake
    DESTINATION ${package_folder})
  install(DIRECTORY models scenes DESTINATION ${data_folder})
endif()
if(TARGET mayfly_app)
  install(TARGETS mayfly_app)
  if(TARGET mayfly_mpi)
    install(TARGETS mayfly_mpi)
  endif()
  # Completion and the manual page, printed by the command itself.
  if(NOT CMAKE_CROSSCOMPILING)
    set(share ${PROJECT_BINARY_DIR}/share)
    file(MAKE_DIRECTORY ${share})
    add_custom_command(TARGET mayfly_app POST_BUILD
      COMMAND mayfly_app completion bash > ${share}/mayfly
      COMMAND mayfly_app completion zsh > ${share}/_mayfly
      COMMAND mayfly_app help man > ${share}/mayfly.1
      BYPRODUCTS ${share}/mayfly ${share}/_mayfly ${share}/mayfly.1 VERBATIM)
    install(FILES ${share}/mayfly DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${share}/_mayfly DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${share}/mayfly.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()

# What the tools library links, by pkg-config: the module of each PkgConfig::NAME target.
set(modules EXPAT=expat PNG=libpng ZLIB=zlib SQLITE=sqlite3 HDF5=hdf5 JANSSON=jansson
  YAML=yaml-0.1 QHULL=qhull_r ZSTD=libzstd LUA=lua5.4)
set(MAYFLY_TOOL_PACKAGES "")
set(MAYFLY_TOOL_CHECKS "")
set(tool_links "")
if(MAYFLY_TOOLS)
  get_target_property(tool_links mayfly_tools LINK_LIBRARIES)
  list(FILTER tool_links INCLUDE REGEX "^PkgConfig::")
endif()
foreach(link IN LISTS tool_links)
  string(REPLACE "PkgConfig::" "" name ${link})
  set(module ${modules})
  list(FILTER module INCLUDE REGEX "^${name}=")
  if(NOT module)
    message(FATAL_ERROR "cmake/install.cmake: name the pkg-config module of ${link}")
  endif()
  string(REGEX REPLACE "^.*=" "" module ${module})
  string(APPEND MAYFLY_TOOL_PACKAGES ", ${module}")
  string(APPEND MAYFLY_TOOL_CHECKS "    mayfly_need(${name} ${module})\n")
endforeach()
string(REGEX REPLACE "^, " "" MAYFLY_TOOL_PACKAGES "${MAYFLY_TOOL_PACKAGES}")

# ---- CMake package ------------------------------------------------------------------------------
configure_package_config_file(cmake/mayflyConfig.cmake.in mayflyConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS data_folder)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(mayflyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mayflyConfig.cmake
  ${PROJECT_BINARY_DIR}/mayflyConfigVersion.cmake DESTINATION ${package_folder})

# ---- pkg-config ---------------------------------------------------------------------------------
# mayfly_pkg_config(NAME): fills cmake/NAME.pc.in, with the prefix relative to the file itself.
function(mayfly_pkg_config name)
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(IS_ABSOLUTE ${folder})
    set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH up /prefix/${folder} /prefix)
    string(REGEX REPLACE "/$" "" up ${up})
    set(PC_PREFIX "\${pcfiledir}/${up}")
  endif()
  foreach(kind IN ITEMS LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${kind}})
      set(PC_${kind} ${CMAKE_INSTALL_${kind}})
    else()
      set(PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
    endif()
  endforeach()
  # A static archive leaves its needs to the final link; a shared library brings them along.
  set(PC_REQUIRES ${MAYFLY_TOOL_PACKAGES})
  set(PC_REQUIRES_PRIVATE "")
  set(PC_LIBS -lm)
  set(PC_LIBS_PRIVATE "")
  if(library_type STREQUAL "SHARED")
    set(PC_REQUIRES_PRIVATE ${PC_REQUIRES})
    set(PC_REQUIRES "")
    set(PC_LIBS_PRIVATE ${PC_LIBS})
    set(PC_LIBS "")
  endif()
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${folder})
endfunction()

mayfly_pkg_config(mayfly)
if(MAYFLY_TOOLS)
  mayfly_pkg_config(mayfly-tools)
endif()
