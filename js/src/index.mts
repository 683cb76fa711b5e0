// The same for 'import': both kinds of module share one implementation.

export * from './index.cjs';
