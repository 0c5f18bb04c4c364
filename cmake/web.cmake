# The page of films and live runs (web/), made when it or its lock file changes. Without it the library has
# none: films cannot be written, which they say.
file(GLOB web_sources CONFIGURE_DEPENDS web/src/* web/*)
list(FILTER web_sources EXCLUDE REGEX "/(src|check)$")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web_sources})
set(web_page ${PROJECT_BINARY_DIR}/embedded/no_page.html)
file(WRITE ${web_page} "")
if(MAYFLY_WEB)
  execute_process(COMMAND sh ${PROJECT_SOURCE_DIR}/web/make.sh ${MAYFLY_WEB_FOLDER}
    RESULT_VARIABLE web_result ERROR_VARIABLE web_reason ERROR_STRIP_TRAILING_WHITESPACE)
  if(web_result EQUAL 0)
    set(web_page ${MAYFLY_WEB_FOLDER}/page.html)
  else()
    message(NOTICE "${web_reason}: this build writes no films and has no `mayfly view`; run CMake again "
      "with a network, or say -DMAYFLY_WEB=OFF")
  endif()
endif()
mayfly_embed(${web_page} mf_film_page film_page)
