import js from '@eslint/js'
import hooks from 'eslint-plugin-react-hooks'
import ts from 'typescript-eslint'

// Every text that people read stands in the two catalogues under src/i18n.
const texts = [
  { selector: 'JSXText[value=/[A-Za-z\\u4e00-\\u9fff]/]', message: 'Put this text into src/i18n/en.ts and zh.ts.' },
  {
    selector: 'JSXAttribute[name.name=/^(title|label|placeholder|alt|aria-label)$/] > Literal[value=/[A-Za-z\\u4e00-\\u9fff]/]',
    message: 'Put this text into src/i18n/en.ts and zh.ts.',
  },
]

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/api/schema.ts', 'test-results'] },
  js.configs.recommended,
  ...ts.configs.strict,
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { 'react-hooks': hooks },
    rules: {
      ...hooks.configs.recommended.rules,
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  { files: ['src/**/*.tsx'], rules: { 'no-restricted-syntax': ['error', ...texts] } },
  { files: ['src/i18n/*.ts'], rules: { 'max-lines': 'off' } },
  { files: ['scripts/*.mjs'], languageOptions: { globals: { console: 'readonly', process: 'readonly' } } },
)
