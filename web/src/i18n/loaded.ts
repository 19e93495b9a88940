// For unit tests: both languages are there.
import { loadLanguage } from '.'

await Promise.all([loadLanguage('en'), loadLanguage('zh')])
