/**
 * What most commands load. Imported by all of them, it becomes a few large files instead of one small file for each combination of
 * commands, because Node.js takes longer to find and open a file than to read its code.
 */
import '../values/document.ts';
import '../values/validate/apply-fixes.ts';
import '../values/validate/validate.ts';
import './user-files.ts';
