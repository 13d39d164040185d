import tseslint from 'typescript-eslint'

/** `process.env` is read in one place, so that a setting cannot hide anywhere else. */
const noEnvironment = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only src/config/load.ts reads the environment: add a setting there.',
}

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/'] },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: true },
      ],
      'no-restricted-syntax': ['error', noEnvironment],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/config/load.ts', 'vitest.config.ts', 'test/**/*.ts', 'scripts/**', 'bench/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['**/*.js', '**/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
  },
  {
    // An old Node.js must be able to read them, to say that it is too old.
    files: ['bin/*.cjs'],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // A test may state what it knows of its own fixture.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
)
