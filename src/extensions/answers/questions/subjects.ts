/** Parts of the guide, in order: the folders of the questions in sql/views/marts. */
export const SUBJECTS: Readonly<Record<string, string>> = {
  daily: 'Daily work',
  costs: 'Costs',
  invoices: 'Invoices and disputes',
  containers: 'One container',
  arrivals: 'Arrivals and transshipments',
  places: 'Terminals, waits and rail',
  carriers: 'Carriers compared',
  quality: 'Data quality',
}
