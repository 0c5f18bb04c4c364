// What the browser remembers of a page, where it lets it.
export function stored<T extends object>(key: string, otherwise: T): T {
  try {
    return { ...otherwise, ...JSON.parse(localStorage.getItem(key) ?? "{}") as T };
  } catch {
    return otherwise;
  }
}

export function store(key: string, value: object): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch { // it keeps nothing: a private window, or a file in some browsers
  }
}
