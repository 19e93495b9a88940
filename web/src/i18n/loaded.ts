// For unit tests: both languages are there.
import { wholeLanguage } from '.'

await Promise.all([wholeLanguage('en'), wholeLanguage('zh')])
