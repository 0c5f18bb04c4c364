# The page of films and live runs (web/), made by npm's packages when it or its lock file changes. Without
# it the library has none: films cannot be written, which they say.
file(GLOB web_sources CONFIGURE_DEPENDS web/src/* web/package-lock.json web/*.mjs web/make.sh)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web_sources})
set(web_page ${PROJECT_BINARY_DIR}/embedded/no_page.html)
file(WRITE ${web_page} "")
if(MAYFLY_WEB)
  execute_process(COMMAND sh ${PROJECT_SOURCE_DIR}/web/make.sh ${MAYFLY_WEB_FOLDER}
    RESULT_VARIABLE web_result)
  if(web_result EQUAL 0)
    set(web_page ${MAYFLY_WEB_FOLDER}/page.html)
  else()
    message(WARNING "web/: the page could not be made (see above): this build writes no films and has "
      "no `mayfly view`. Run CMake again when npm and its packages can be reached, or say "
      "-DMAYFLY_WEB=OFF.")
  endif()
endif()
mayfly_embed(${web_page} mf_film_page film_page)
