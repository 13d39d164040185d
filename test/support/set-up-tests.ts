import { showProgramsOfFailures } from './said-by-programs.js'

/* A set-up file of all tests. */

showProgramsOfFailures()
